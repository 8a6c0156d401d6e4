import SecureFileCore
import Synchronization

/// Takes the orders of `sfs lock` and `sfs unlock` for a mount. Only its user and root are listened to.
final class ControlServer: Sendable {
    private let listener: FileDescriptor
    private let path: RawPath
    private let user: UInt32
    private let locker: MountLocker
    private let thread = Mutex<NativeThread?>(nil)
    private let isStopping = Atomic<Bool>(false)
    /// Those who wait for the end.
    private let attending = Mutex<[FileDescriptor]>([])
    private static let attendingMaximum = 16
    /// Whoever connects has so long to say what is wanted.
    private static let seconds: Int32 = 5

    /// - Throws: the system's error where there is no place for a socket. The mount can do without.
    init(_ locker: MountLocker, user: UInt32) throws(Errno) {
        self.locker = locker
        self.user = user
        let folder = try ControlFolder.make(for: user)
        ControlFolder.removeStale(in: folder)
        path = ControlFolder.socket(of: CurrentProcess.id, user: user)
        let root = try FileDescriptor.open(RawPath("/"), [.pathOnly, .directory])
        try? root.remove(path)
        listener = try LocalSocket.listen(at: path)
        let started = try NativeThread.start { [self] in serve() }
        thread.withLock { $0 = started }
    }

    /// Ends the service; an order under way is finished first.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        listener.stopAccepting()
        thread.withLock { $0.take() }?.join()
        try? FileDescriptor.open(RawPath("/"), [.pathOnly, .directory]).remove(path)
    }

    private func serve() {
        while !isStopping.load(ordering: .relaxed) {
            guard let connection = try? listener.accept(seconds: Self.seconds) else {
                // Out of descriptors, say: not to be asked again at once.
                if !isStopping.load(ordering: .relaxed) { CurrentProcess.pause(milliseconds: 100) }
                continue
            }
            guard let peer = connection.peerUser, peer == user || peer == 0 else { continue }
            let request = PageBuffer(count: ControlMessage.requestLength)
            guard (try? connection.readStream(into: request, 0..<ControlMessage.requestLength)) != nil else { continue }
            let failure = obey(request, connection)
            request.zero(0..<request.count)
            try? connection.writeStream(ControlMessage.encode(failure))
        }
    }

    /// Tells those who asked for it that the mount has ended, and whether everything was written. After ``stop()``.
    func tellEnd(_ failure: SecureFileError?) {
        for connection in attending.withLock({ $0 }) { try? connection.writeStream(ControlMessage.encode(failure)) }
    }

    private func obey(_ request: PageBuffer, _ connection: FileDescriptor) -> SecureFileError? {
        guard let (order, discarding, key) = ControlMessage.decode(request) else {
            return SecureFileError(.notSupported, "the mount is served by another version of sfs")
        }
        do throws(SecureFileError) {
            switch order {
            case .attend:
                attending.withLock { list in
                    // Those whose unmount was refused have gone.
                    if list.count == Self.attendingMaximum { list.removeFirst() }
                    list.append(connection)
                }
            case .lock: try locker.lock(discardingUnwritten: discarding)
            case .unlock: try locker.unlock(with: try Self.keys(key))
            case .status: if locker.isLocked { throw SecureFileError(.keyNotAvailable, "locked") }
            }
            return nil
        } catch { return error }
    }

    private static func keys(_ key: SecretKey) throws(SecureFileError) -> VolumeKeys {
        do { return try VolumeKeys(volumeKey: key) } catch { throw SecureFileError(.system, "the key cannot be used: libcrypto failed") }
    }
}
