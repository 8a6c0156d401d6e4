import Foundation

/// A keyed archive, checked as a whole before anything in it becomes an object: form, classes, depth, count, cycles.
struct KeyedArchive {
    /// What an object of the table is.
    enum Entry {
        /// A text, number, date or data: the node itself. `$null` is nil.
        case value(BinaryPropertyList.Node)
        case null
        /// An object of a class: the nodes of its keys.
        case object(ArchivedClass, [String: Int])
        /// The description of a class.
        case classDescription
    }

    enum ArchivedClass {
        case foundation(FoundationClass)
        case own(NSObject.Type, name: String)

        var type: NSObject.Type {
            switch self {
            case .foundation(let known): known.type
            case .own(let type, _): type
            }
        }
        var name: String {
            switch self {
            case .foundation(let known): known.rawValue
            case .own(_, let name): name
            }
        }
    }

    let list: BinaryPropertyList
    let root: Int
    /// The nodes of the objects, by UID.
    private let objects: [Int]
    /// What was found at each UID that can be reached from the root.
    private(set) var entries: [Int: Entry] = [:]

    /// - Parameters:
    ///   - bytes: The archive.
    ///   - scope: The classes that may occur.
    ///   - requiresSecureCoding: Each class must support it.
    init(
        _ bytes: [UInt8], _ scope: ClassScope, requiresSecureCoding: Bool, limits: SecureCodingLimits = SecureCodingLimits()
    ) throws(SecureDecodingError) {
        guard bytes.count <= limits.bytes else { throw .limitExceeded("\(bytes.count) bytes") }
        list = try BinaryPropertyList(parsing: bytes)
        guard let members = list.members(list.nodes[list.top]), let archiver = members["$archiver"], let version = members["$version"],
            let table = members["$objects"], let topNode = members["$top"]
        else { throw .malformed("no keyed archive") }
        guard list.text(list.nodes[archiver]) == "NSKeyedArchiver", case .integer(100_000) = list.nodes[version] else {
            throw .malformed("an archive of another kind or version")
        }
        guard case .array(let range) = list.nodes[table] else { throw .malformed("no table of objects") }
        objects = range.map { [list] in list.references[$0] }
        guard let top = list.members(list.nodes[topNode]), let rootNode = top["root"], case .uid(let root) = list.nodes[rootNode] else {
            throw .malformed("no root")
        }
        self.root = root
        var check = ArchiveCheck(list: list, objects: objects, scope: scope, requiresSecureCoding: requiresSecureCoding, limits: limits)
        try check.run(root)
        entries = check.entries
    }
}

/// The walk over everything that can be reached from the root: with a stack of its own, so that no depth overflows the thread's.
struct ArchiveCheck {
    let list: BinaryPropertyList
    let objects: [Int]
    let scope: ClassScope
    let requiresSecureCoding: Bool
    let limits: SecureCodingLimits
    private(set) var entries: [Int: KeyedArchive.Entry] = [:]
    private var classes: [Int: KeyedArchive.ArchivedClass] = [:]
    /// Objects a finished one stands for, itself included, shared ones counted each time.
    private var sizes: [Int: Int] = [:]
    /// References that may still be looked at: in a sound archive each is, once.
    private var visits: Int

    init(list: BinaryPropertyList, objects: [Int], scope: ClassScope, requiresSecureCoding: Bool, limits: SecureCodingLimits) {
        self.list = list
        self.objects = objects
        self.scope = scope
        self.requiresSecureCoding = requiresSecureCoding
        self.limits = limits
        visits = 2 * list.references.count + 64
    }

    private struct Frame {
        var uid: Int
        var children: [(uid: Int, key: String)]
        var next = 0
        var size = 1
    }

    mutating func run(_ root: Int) throws(SecureDecodingError) {
        var stack = [Frame(uid: root, children: try enter(root, "root"))]
        var keys = ["root"]
        while let frame = stack.last {
            guard frame.next < frame.children.count else {
                sizes[frame.uid] = frame.size
                stack.removeLast()
                keys.removeLast()
                if !stack.isEmpty { try add(frame.size, to: &stack[stack.count - 1]) }
                continue
            }
            let child = frame.children[frame.next]
            stack[stack.count - 1].next += 1
            if let size = sizes[child.uid] {
                try add(size, to: &stack[stack.count - 1])
                continue
            }
            let path = (keys + [child.key]).suffix(16).joined(separator: ".")
            // Entered and not finished: it is above us.
            if entries[child.uid] != nil { throw .cycle(keyPath: path) }
            guard stack.count < limits.depth else { throw .limitExceeded("deeper than \(limits.depth) objects") }
            keys.append(child.key)
            stack.append(Frame(uid: child.uid, children: try enter(child.uid, path)))
        }
    }

    private func add(_ size: Int, to frame: inout Frame) throws(SecureDecodingError) {
        let (sum, overflow) = frame.size.addingReportingOverflow(size)
        guard !overflow, sum <= limits.objects else { throw .limitExceeded("more than \(limits.objects) objects") }
        frame.size = sum
    }

    /// Finds out what the object is, and whether it may be; returns what it refers to.
    private mutating func enter(_ uid: Int, _ path: String) throws(SecureDecodingError) -> [(uid: Int, key: String)] {
        guard uid < objects.count else { throw .malformed("a reference to an object that is not there, at \(path)") }
        let node = list.nodes[objects[uid]]
        switch node {
        case .dictionary: break
        case .array, .uid, .null: throw .malformed("an object of a wrong type at \(path)")
        default:
            entries[uid] = list.text(node) == "$null" ? .null : .value(node)
            return []
        }
        guard let members = list.members(node) else { throw .malformed("an object with damaged keys at \(path)") }
        guard let classNode = members["$class"] else { throw .malformed("an object without a class at \(path)") }
        guard case .uid(let classUID) = list.nodes[classNode] else { throw .malformed("an object with a damaged class at \(path)") }
        let archived = try archivedClass(classUID, path)
        try check(archived, path)
        entries[uid] = .object(archived, members)
        var children: [(uid: Int, key: String)] = []
        // In order, so that of several faults the same one is always named.
        for (key, value) in members.sorted(by: { $0.key < $1.key }) where key != "$class" { try collect(value, key, 0, &children, path) }
        return children
    }

    /// The UIDs in a value: itself, or in arrays.
    private mutating func collect(
        _ node: Int, _ key: String, _ depth: Int, _ children: inout [(uid: Int, key: String)], _ path: String
    ) throws(SecureDecodingError) {
        visits -= 1
        guard visits >= 0, depth <= 4 else { throw .malformed("values refer to each other at \(path).\(key)") }
        switch list.nodes[node] {
        case .uid(let uid): children.append((uid, key))
        case .array(let range): for place in range { try collect(list.references[place], key, depth + 1, &children, path) }
        case .dictionary: throw .malformed("a dictionary in an object at \(path).\(key)")
        default: return
        }
    }

    private mutating func archivedClass(_ uid: Int, _ path: String) throws(SecureDecodingError) -> KeyedArchive.ArchivedClass {
        if let known = classes[uid] { return known }
        guard uid < objects.count, let description = list.members(list.nodes[objects[uid]]), let nameNode = description["$classname"],
            let name = list.text(list.nodes[nameNode]), let chain = description["$classes"], case .array(let names) = list.nodes[chain]
        else { throw .malformed("the description of a class is missing at \(path)") }
        guard let first = names.first, list.text(list.nodes[list.references[first]]) == name else {
            throw .malformed("the description of a class contradicts itself at \(path)")
        }
        let archived: KeyedArchive.ArchivedClass
        if let known = FoundationClass(rawValue: name) {
            archived = .foundation(known)
        } else {
            // Foundation's other classes are not ours to make: their initializers trap.
            guard let type = SecureClassNames.type(named: name), type is NSCoding.Type, !SecureClassNames.isFoundations(type) else {
                throw .classUnknown(name, keyPath: path)
            }
            archived = .own(type, name: name)
        }
        classes[uid] = archived
        return archived
    }

    private func check(_ archived: KeyedArchive.ArchivedClass, _ path: String) throws(SecureDecodingError) {
        guard scope.allows(archived) else { throw .classNotAllowed(archived.name, keyPath: path) }
        if requiresSecureCoding, case .own(let type, let name) = archived {
            guard let secure = type as? NSSecureCoding.Type, secure.supportsSecureCoding else {
                throw .classNotSecure(name, keyPath: path)
            }
        }
    }
}

