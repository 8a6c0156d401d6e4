/// Files that several processes write in turn, each keeping its instance meanwhile: the database of a store. FORMAT section 15.
extension SecureFile {
    /// Whether the backing file's first page is the one this instance knows: nobody else has ended a session with the file since.
    ///
    /// To be asked under a lock that keeps writers out. Where the answer is no, the instance has to be opened anew.
    package func isCurrent() throws(SecureFileError) -> Bool {
        try reading { () throws(SecureFileError) in
            if isUnsettled { return false }
            let head = PageBuffer(count: ContentGeometry.headSize)
            let got = try onStore("could not read") { () throws(Errno) in
                try store.read(at: BackingOffset(0), into: head, 0..<ContentGeometry.headSize)
            }
            guard let header else { return got == 0 }
            return got == ContentGeometry.headSize && head.bytes(0..<got) == header.page.buffer.bytes(0..<got)
        }
    }
}
