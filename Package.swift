// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built with strict memory safety and with warnings as errors (docs/ARCHITECTURE.md, "House rules").
let house: [SwiftSetting] = [.strictMemorySafety(), .treatAllWarnings(as: .error)]

let package = Package(
    name: "SecureFS",
    products: [
        .executable(name: "sfs", targets: ["sfs"]),
        .library(name: "SecureFileCore", targets: ["SecureFileCore"]),
    ],
    targets: [
        .target(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        .target(name: "SecureFileCore", dependencies: ["CLinux", "COpenSSL", "CArgon2"], swiftSettings: house),
        .target(name: "SecureFS", dependencies: ["SecureFileCore", "CFuse", "CLinux"], swiftSettings: house),
        .executableTarget(name: "sfs", dependencies: ["SecureFS", "SecureFileCore", "CLinux"], swiftSettings: house),
        .executableTarget(
            name: "passthrough-mount", dependencies: ["SecureFS", "SecureFileCore"], path: "Tests/PassthroughMount", swiftSettings: house),
        .target(name: "TestSupport", dependencies: ["SecureFileCore"], path: "Tests/TestSupport", swiftSettings: house),
        .testTarget(name: "SecureFSTests", dependencies: ["SecureFS", "SecureFileCore", "passthrough-mount"], swiftSettings: house),
        .testTarget(name: "SfsTests", dependencies: ["sfs", "SecureFileCore"], exclude: ["terminal.py"], swiftSettings: house),
        .testTarget(name: "MountTests", exclude: ["Scripts"], swiftSettings: house),
        .executableTarget(
            name: "crash-campaign", dependencies: ["TestSupport", "SecureFileCore"], path: "Tests/CrashCampaign", swiftSettings: house),
        .testTarget(name: "SecureFileCoreTests", dependencies: ["SecureFileCore", "TestSupport"], swiftSettings: house),
    ]
)
