import CLinux
import Glibc

/// Works on files of its own, in a folder of its own; others do so at the same time.
final class Worker: @unchecked Sendable {
    let folder: String
    let number: Int
    var subjects: [Subject] = []
    var generator: Generator
    var history: [Step] = []
    var counts: [Operation: Int] = [:]
    var refused: Set<Operation> = []
    let memory = Memory(count: 2 << 20)
    private(set) var done = 0
    private let historyLength = 30

    init(folder: String, number: Int, seed: UInt64, files: Int) throws {
        self.folder = folder
        self.number = number
        generator = Generator(seed: Generator.mixed(seed &* 1_000_003 &+ UInt64(number)))
        for path in [folder, folder + "/sub"] { try call("mkdir \(path)") { unsafe mkdir(path, 0o755) } }
        for n in 0..<files {
            let profile = Profile.allCases[n % Profile.allCases.count]
            let subject = Subject(profile, number: n)
            try subject.create(newName(subject))
            subjects.append(subject)
        }
    }

    func newName(_ subject: Subject) -> String {
        subject.named += 1
        let tail = subject.named % 5 == 0 ? String(repeating: "n", count: 200) : ""
        return "\(folder)/\(subject.named % 3 == 0 ? "sub/" : "")file-\(subject.number)-\(subject.named)\(tail)"
    }

    /// Some kinds are left out each time: what they would hide then shows.
    func run(_ count: Int, _ stopped: Flag) throws {
        let kinds = Operation.allCases.filter { $0 == .write || $0 == .read || generator.below(100) < 80 }
        let bag = kinds.flatMap { Array(repeating: $0, count: $0.weight) }
        for _ in 0..<count {
            if stopped.isUp { return }
            let operation = generator.pick(bag), subject = generator.pick(subjects)
            counts[operation, default: 0] += 1
            try perform(operation, subject)
            try subject.checkStatus()
            done += 1
        }
    }

    func record(_ operation: Operation, _ subject: Subject, _ values: Int64...) {
        if history.count >= historyLength { history.removeFirst() }
        history.append(Step(number: done, operation: operation, subject: subject, values: values))
    }

    /// Every byte, every size, every name.
    func compareAll(_ when: String) throws {
        for subject in subjects {
            do {
                try subject.checkTime()
                let descriptor = try subject.handle([.plain, .second, .append, .reading], &generator)
                try subject.checkStatus()
                let size = subject.model.size
                let parts = subject.profile == .sparse ? subject.model.parts + [max(0, size - 5000)..<size] : [0..<size]
                for part in parts {
                    for offset in stride(from: part.lowerBound, to: part.upperBound, by: 1 << 20) {
                        try subject.compare(descriptor, memory, Int(min(1 << 20, part.upperBound - offset)), at: offset, "read \(when)")
                    }
                }
                try seek(subject, from: 0, extents: 4096)
                for name in subject.names {
                    var status = stat(), own = stat()
                    try call("stat \(name)") { unsafe lstat(name, &status) }
                    try call("fstat") { unsafe fstat(descriptor, &own) }
                    if status.st_ino != own.st_ino || status.st_size != own.st_size { throw Failure("\(name) is another file than it was, or shows another size") }
                }
            } catch {
                throw Failure("file \(subject.number) (\(subject.profile.name), \(subject.names.first ?? "no name")), \(when): \(error)")
            }
        }
    }

    /// Nothing stays open: the filesystem can be unmounted. What has no name begins again as a new file.
    func letGo() throws {
        for subject in subjects {
            if subject.names.isEmpty { try begin(subject) }
            try subject.closeAll()
            try subject.noteTime()
        }
    }

    func begin(_ subject: Subject) throws {
        try subject.closeAll()
        subject.model = Model()
        subject.stamp = nil
        try subject.create(newName(subject))
    }

    /// What was made in the end goes; the folder, too.
    func remove() throws {
        for subject in subjects {
            try subject.closeAll()
            for name in subject.names { try call("unlink \(name)") { unsafe Glibc.unlink(name) } }
        }
        for path in [folder + "/sub", folder] { try call("rmdir \(path)") { unsafe rmdir(path) } }
    }
}
