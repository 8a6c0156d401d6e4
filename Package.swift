// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built with strict memory safety and with warnings as errors (docs/ARCHITECTURE.md, "House rules").
let house: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let package = Package(
    name: "SecureFS",
    products: [
        .executable(name: "sfs", targets: ["sfs"]),
        .library(name: "SecureFileCore", targets: ["SecureFileCore"]),
        .library(name: "SecureStore", targets: ["SecureStore"]),
    ],
    targets: [
        .target(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        .target(name: "SecureFileCore", dependencies: ["CLinux", "COpenSSL", "CArgon2"], swiftSettings: house),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SecureStoreCore", dependencies: ["SecureFileCore", "CSQLite"], swiftSettings: house),
        .target(name: "SecureStore", dependencies: ["SecureStoreCore", "SecureFileCore"], swiftSettings: house),
        .target(name: "SecureFS", dependencies: ["SecureStoreCore", "SecureFileCore", "CFuse", "CLinux"], swiftSettings: house),
        .executableTarget(name: "sfs", dependencies: ["SecureFS", "SecureStoreCore", "SecureFileCore", "CLinux"], swiftSettings: house),
        .executableTarget(
            name: "passthrough-mount", dependencies: ["SecureFS", "SecureFileCore"], path: "Tests/PassthroughMount", swiftSettings: house),
        .target(name: "TestSupport", dependencies: ["SecureFileCore"], path: "Tests/TestSupport", swiftSettings: house),
        .testTarget(name: "SecureFSTests", dependencies: ["SecureFS", "SecureFileCore", "TestSupport", "passthrough-mount"], swiftSettings: house),
        .testTarget(name: "SfsTests", dependencies: ["sfs", "SecureFileCore"], exclude: ["terminal.py", "lock_writer.py", "memory_search.py"], swiftSettings: house),
        .executableTarget(name: "handle-bench", dependencies: ["SecureFileCore"], path: "Tests/HandleBench", swiftSettings: house),
        .target(name: "ExerciserCalls", path: "Tests/ExerciserCalls"),
        .executableTarget(
            name: "file-exerciser", dependencies: ["CLinux", "ExerciserCalls"], path: "Tests/FileExerciser", swiftSettings: house),
        .executableTarget(
            name: "crash-campaign", dependencies: ["TestSupport", "SecureFileCore"], path: "Tests/CrashCampaign", swiftSettings: house),
        .executableTarget(
            name: "store-campaign", dependencies: ["TestSupport", "SecureFileCore", "SecureStoreCore", "SecureStore"], path: "Tests/StoreCampaign",
            swiftSettings: house),
        // The listings of the seed as they are: no house rules.
        .executableTarget(name: "SeedListingBefore", dependencies: ["SecureStore"], path: "Tests/SeedListings/Before"),
        .executableTarget(name: "SeedListingAfter", dependencies: ["SecureStore"], path: "Tests/SeedListings/After"),
        .testTarget(
            name: "SecureStoreTests",
            dependencies: ["SecureStore", "SecureStoreCore", "SecureFileCore", "TestSupport", "SeedListingBefore", "SeedListingAfter"],
            swiftSettings: house),
        .testTarget(name: "SecureFileCoreTests", dependencies: ["SecureFileCore", "TestSupport"], swiftSettings: house),
    ]
)

// The cases of Tests/MountTests under a harness that also counts descriptors and leftovers: minutes of work, so only where asked for.
// `scripts/test` runs the cases themselves (scripts/test.d/40-mount-cases).
if Context.environment["SFS_MOUNT_TESTS"] != nil {
    package.targets.append(.testTarget(name: "MountTests", exclude: ["Scripts"], swiftSettings: house))
}
