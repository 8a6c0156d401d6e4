import SecureFileCore
import Synchronization

/// Where stores say what they accepted leniently or could not decode: never a key or a value. By default the standard error.
public final class StoreLog: Sendable {
    public static let shared = StoreLog()
    private let sink = Mutex<@Sendable (String) -> Void>({ StandardError.write("SecureStore: \($0)") })

    /// Lines go to `sink` from now on.
    public func send(to sink: @escaping @Sendable (String) -> Void) { self.sink.withLock { $0 = sink } }

    package func note(_ line: String) { sink.withLock({ $0 })(line) }
}
