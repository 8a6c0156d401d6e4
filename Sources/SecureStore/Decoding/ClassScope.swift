import Foundation

/// Classes that may be decoded, each with its subclasses.
struct ClassScope {
    /// Nil: any that the program has.
    private let classes: [AnyClass]?
    /// Foundation's plain values (texts, numbers, data, dates …) need not be listed.
    private let allowsLeaves: Bool

    private init(_ classes: [AnyClass]?, allowsLeaves: Bool) {
        self.classes = classes
        self.allowsLeaves = allowsLeaves
    }

    /// Without secure coding: any class.
    static let any = ClassScope(nil, allowsLeaves: true)

    /// What a reader allows in the whole of an archive.
    static func archive(_ classes: [AnyClass]) -> ClassScope { ClassScope(classes, allowsLeaves: true) }

    /// What one call to decode an object names.
    static func call(_ classes: [AnyClass]) -> ClassScope { ClassScope(classes, allowsLeaves: false) }

    func allows(_ archived: KeyedArchive.ArchivedClass) -> Bool {
        guard let classes else { return true }
        if allowsLeaves, case .foundation(let known) = archived, known.isLeaf { return true }
        let type = archived.type
        return classes.contains { type == $0 || type.isSubclass(of: $0) }
    }
}
