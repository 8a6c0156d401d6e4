import Foundation

/// What makes data of `Codable` values.
public protocol CoderProtocol {
    func encode<T: Encodable>(_ value: T) throws -> Data
    func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T
}

/// A value as the only element of a list: property lists hold no single values at their top.
private struct Single<T> { let value: T }
extension Single: Encodable where T: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(value)
    }
}
extension Single: Decodable where T: Decodable {
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        value = try container.decode(T.self)
    }
}

/// Binary property lists.
public struct PlistCoder: CoderProtocol {
    public init() {}

    public func encode<T: Encodable>(_ value: T) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoder.encode(Single(value: value))
        guard !data.isEmpty else { throw SecureEncodingError.empty }
        return data
    }

    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try PropertyListDecoder().decode(Single<T>.self, from: data).value
    }
}

/// JSON.
public struct JSONCoder: CoderProtocol {
    public init() {}

    public func encode<T: Encodable>(_ value: T) throws -> Data { try JSONEncoder().encode(Single(value: value)) }

    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { try JSONDecoder().decode(Single<T>.self, from: data).value }
}
