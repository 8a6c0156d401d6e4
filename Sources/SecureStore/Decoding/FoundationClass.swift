import Foundation

/// The Foundation classes that archives may hold. They are built here: corelibs' own initializers work with its own coder only, and trap.
enum FoundationClass: String, CaseIterable {
    case array = "NSArray"
    case mutableArray = "NSMutableArray"
    case dictionary = "NSDictionary"
    case mutableDictionary = "NSMutableDictionary"
    case set = "NSSet"
    case mutableSet = "NSMutableSet"
    case string = "NSString"
    case mutableString = "NSMutableString"
    case data = "NSData"
    case mutableData = "NSMutableData"
    case date = "NSDate"
    case null = "NSNull"
    case uuid = "NSUUID"
    case url = "NSURL"
    case number = "NSNumber"

    var type: NSObject.Type {
        switch self {
        case .array: NSArray.self
        case .mutableArray: NSMutableArray.self
        case .dictionary: NSDictionary.self
        case .mutableDictionary: NSMutableDictionary.self
        case .set: NSSet.self
        case .mutableSet: NSMutableSet.self
        case .string: NSString.self
        case .mutableString: NSMutableString.self
        case .data: NSData.self
        case .mutableData: NSMutableData.self
        case .date: NSDate.self
        case .null: NSNull.self
        case .uuid: NSUUID.self
        case .url: NSURL.self
        case .number: NSNumber.self
        }
    }

    /// The class that `type` is, mutable or not.
    init?(exactly type: NSObject.Type) {
        guard let known = Self.allCases.first(where: { $0.type == type }) else { return nil }
        self = known
    }

    /// Values that hold no object of another class: they need not be listed among the allowed classes of a reader, only where they are decoded.
    var isLeaf: Bool {
        switch self {
        case .array, .mutableArray, .dictionary, .mutableDictionary, .set, .mutableSet: false
        default: true
        }
    }
}
