import Foundation
import Testing

/// A script of Tests/MountTests/Scripts, and what its first lines ask for.
///
/// `# mount: KEY=VALUE…`, with
/// - `OPTIONS`: options of the mount; `NOFILE`: the daemon's limit of descriptors;
/// - `PLACE=memory`: the vault may lie in memory, because it is about many small operations and not about a disk;
/// - `STYLE=background`: the daemon goes to the background by itself, as for users; others keep it in front, to see what it says;
/// - `COMPARE=1`: at the end the independent reader has to find in the vault what the mount shows;
/// - `SECONDS`: the time limit.
struct MountCase: Sendable, CustomTestStringConvertible {
    let name: String
    let script: String
    private let settings: [String: String]

    var testDescription: String { name }

    init(name: String, script: String) {
        self.name = name
        self.script = script
        let text = (try? String(contentsOfFile: script, encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").filter { $0.hasPrefix("# mount: ") }.flatMap { $0.dropFirst("# mount: ".count).split(separator: " ") }
        settings = Dictionary(words.map { word in (String(word.prefix { $0 != "=" }), String(word.drop { $0 != "=" }.dropFirst())) }) { $1 }
    }

    var options: String { settings["OPTIONS"] ?? "" }
    var descriptorLimit: String? { settings["NOFILE"] }
    var isInMemory: Bool { settings["PLACE"] == "memory" }
    var isInBackground: Bool { settings["STYLE"] == "background" }
    var isCompared: Bool { settings["COMPARE"] == "1" }
    var limit: Double { settings["SECONDS"].flatMap(Double.init) ?? 120 }

    /// All of them, by name.
    static let all = cases(in: MountEnvironment.scripts).filter { MountEnvironment.chosen?.contains($0.name) ?? true }

    static func cases(in folder: String) -> [MountCase] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".sh") }.sorted().map { MountCase(name: String($0.dropLast(3)), script: "\(folder)/\($0)") }
    }
}
