import Foundation
import Testing

@testable import SecureStore
@testable import SecureStoreCore

/// The two listings of the seed run as programs, each in a data folder of its own.
struct SeedListingTests {
    @Test(arguments: ["SeedListingBefore", "SeedListingAfter"]) func runs(name: String) throws {
        let fixture = try StoreFixture()
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = tests.appendingPathComponent(name)
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_DATA_HOME": fixture.folder]) { $1 }
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
        let store = SecureDatabaseStore(fullDatabasePath: fixture.folder + "/sfs/stores/ProfileStore")
        try store.open(with: "my-encryption-key")
        #expect(try ValueTable(store, .keyValue, "ProfileStore").keys() == ["user_42"])
        let caches = SecureDatabaseStore(fullDatabasePath: fixture.folder + "/sfs/stores/profiles.db")
        try caches.open(with: "my-encryption-key")
        #expect(try ValueTable(caches, .cache, "Profiles").keys() == ["user_42"])
    }
}
