import SecureFileCore

/// Keys and sessions for tests of content files.
public enum TestVault {
    /// Files that are lengthened ahead of their end at every occasion.
    package static func growth() -> GrowthAhead {
        var limits = GrowthAhead.Limits()
        (limits.steps, limits.largestStep, limits.least, limits.most) = (1, 300_000, 4096, 20_480)
        return GrowthAhead(limits)
    }

    public static let contentKey = SecretKey(copying: (0..<32).map { UInt8($0) })
    public static let keyID: UInt64 = 0x0102_0304_0506_0708

    /// Two helpers, for the smallest work.
    package static let crew = Crew(helpers: 2, smallest: 1)
    /// Nobody helps: what is handed out is done when it is waited for, in an order that is always the same.
    package static let patientCrew = Crew(helpers: 0, smallest: 1)

    public static func session(_ number: Int) -> SessionID { SessionID(low: UInt64(number), high: 0x5E55_1014) }

    /// The context of session `number`; sessions `dead` died before.
    public static func context(
        session number: Int, dead: Set<Int> = [], cipher: CipherKind = .aes256GCM, options: ContentContext.Options = .init(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> ContentContext {
        let rule = SessionRule(current: session(number), lenient: Set(dead.map { session($0) }))
        return ContentContext(contentKey: contentKey, keyID: keyID, cipher: cipher, session: rule, options: options, log: log)
    }

    /// The context of files outside of a vault.
    public static func standaloneContext(
        cipher: CipherKind = .aes256GCM, options: ContentContext.Options = .init(), log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> ContentContext {
        ContentContext(standaloneFilesUnder: contentKey, keyID: keyID, cipher: cipher, options: options, log: log)
    }
}

/// A violation found by a test, in words.
public struct Finding: Error, CustomStringConvertible {
    public var description: String
    public init(_ description: String) { self.description = description }
}
