import CLinux
import Glibc

/// A socket with a name in the filesystem, for processes of one user to talk to each other. The corresponding manual page is unix(7).
package enum LocalSocket {
    /// A listening socket at `path`, which must be free; only this user (and root) can connect.
    package static func listen(at path: RawPath) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try retrying { unsafe path.withCString { unsafe CLinux_local_listen($0) } })
    }

    /// Connects to the listener at `path`.
    ///
    /// - Parameter seconds: What is sent or received later fails with `.tryAgain` after so long.
    package static func connect(to path: RawPath, seconds: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try retrying { unsafe path.withCString { unsafe CLinux_local_connect($0, seconds) } })
    }
}

extension FileDescriptor {
    /// Waits for the next connection to a listening socket.
    package func accept(seconds: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try retrying { CLinux_local_accept(rawValue, seconds) })
    }

    /// The user at the other end of a connection; nil where it cannot be told.
    package var peerUser: UInt32? { UInt32(exactly: CLinux_local_peer_user(rawValue)) }

    /// Ends a wait for connections, now and later.
    package func stopAccepting() { _ = CLinux_local_shutdown(rawValue) }

    /// Reads exactly `range.count` bytes of a stream.
    ///
    /// - Throws: `.inputOutput` where it ends before; `.tryAgain` after the connection's time.
    package func readStream(into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) {
        var done = range.lowerBound
        while done < range.upperBound {
            let got: Int = try retrying {
                unsafe buffer.withPointer(done..<range.upperBound) { unsafe Glibc.read(rawValue, $0.baseAddress, $0.count) }
            }
            if got == 0 { throw .inputOutput }
            done += got
        }
    }
}
