import Foundation

/// Foundation's values as Swift's, where Foundation's own unarchiver gives those.
enum SwiftValue {
    static func of(_ object: NSObject) -> Any {
        switch object {
        case let text as NSString where !(text is NSMutableString): String._unconditionallyBridgeFromObjectiveC(text)
        case let array as NSArray where !(array is NSMutableArray): Array(array)
        default: object
        }
    }

    /// `object` as a `T`, by itself or as the Swift value it stands for.
    static func cast<T>(_ object: NSObject, to type: T.Type = T.self) -> T? {
        if let value = object as? T { return value }
        switch object {
        case let text as NSString: return String._unconditionallyBridgeFromObjectiveC(text) as? T
        case let array as NSArray: return Array(array) as? T
        case let data as NSData: return Data(referencing: data) as? T
        case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate) as? T
        case let set as NSSet: return Set(set.allObjects.compactMap { $0 as? AnyHashable }) as? T
        case let dictionary as NSDictionary:
            var copy: [AnyHashable: Any] = [:]
            for key in dictionary.allKeys { if let name = key as? AnyHashable { copy[name] = dictionary[key] } }
            return copy as? T
        case let number as NSNumber: return (number.int64Value as? T) ?? (number.intValue as? T) ?? (number.doubleValue as? T)
        default: return nil
        }
    }
}
