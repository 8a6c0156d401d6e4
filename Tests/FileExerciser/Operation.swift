/// What is done, and how often in comparison.
enum Operation: String, CaseIterable {
    case write, read, append, directWrite, directRead, truncate, store, load, flushMapping, unmap
    case punch, allocate, allocateKeep, zeroRange, zeroRangeKeep, copy, seek
    case sync, dataSync, open, close, cut, link, unlink, rename, exchange, replace, detach, unnamed, setTimes, drop

    var weight: Int {
        switch self {
        case .write, .read: 24
        case .store, .load: 14
        case .append, .directWrite, .directRead, .copy, .truncate: 7
        case .punch, .allocate, .allocateKeep, .zeroRange, .zeroRangeKeep, .seek, .open, .close: 4
        case .flushMapping, .unmap, .setTimes: 3
        case .link, .unlink, .rename, .exchange, .drop, .sync, .dataSync: 2
        case .replace, .cut, .detach, .unnamed: 1
        }
    }
}

/// One entry of the history that a failure shows.
struct Step {
    let number: Int
    let operation: Operation
    let subject: Subject
    let values: [Int64]

    var text: String { "\(number) \(operation.rawValue) file \(subject.number) (\(subject.profile.name)) \(values.map(String.init).joined(separator: " "))" }
}
