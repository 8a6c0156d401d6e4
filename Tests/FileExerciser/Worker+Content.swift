import CLinux
import ExerciserCalls
import Glibc

/// Operations on content, each done to the file and to its model.
extension Worker {
    func perform(_ operation: Operation, _ subject: Subject) throws {
        switch operation {
        case .write, .read, .append, .directWrite, .directRead, .truncate, .cut: try transfer(operation, subject)
        case .store, .load, .flushMapping, .unmap: try map(operation, subject)
        case .punch, .allocate, .allocateKeep, .zeroRange, .zeroRangeKeep: try allocate(operation, subject)
        case .copy: try copy(subject)
        case .seek:
            let from = subject.profile.place(&generator, size: subject.model.size)
            record(.seek, subject, from)
            try seek(subject, from: from, extents: 20)
        default: try attend(operation, subject)
        }
    }

    /// A place and a length that stay within the profile.
    private func range(_ subject: Subject) -> (Int64, Int) {
        let offset = subject.profile.place(&generator, size: subject.model.size)
        return (offset, Int(min(Int64(subject.profile.length(&generator)), subject.profile.limit - offset)))
    }

    private func transfer(_ operation: Operation, _ subject: Subject) throws {
        var (offset, count) = range(subject)
        switch operation {
        case .read:
            record(operation, subject, offset, Int64(count))
            try subject.compare(subject.handle([.plain, .second, .append, .synchronous, .reading], &generator), memory, count, at: offset, "read")
        case .write:
            record(operation, subject, offset, Int64(count))
            try write(subject, subject.handle([.plain, .second, .synchronous], &generator), offset, count)
        case .append:
            offset = subject.model.size
            count = Int(max(0, min(Int64(count), subject.profile.limit - offset)))
            record(operation, subject, offset, Int64(count))
            try write(subject, subject.handle([.append], &generator), nil, count)
        case .directRead, .directWrite:
            offset = offset / 4096 * 4096
            count = min((count + 4095) / 4096 * 4096, Int((subject.profile.limit + 4095 - offset) / 4096 * 4096))
            record(operation, subject, offset, Int64(count))
            let descriptor = try subject.handle([.direct], &generator)
            if operation == .directRead {
                try subject.compare(descriptor, memory, count, at: offset, "direct read")
            } else {
                try write(subject, descriptor, offset, count)
            }
        case .truncate:
            let size = generator.one(in: 3) ? subject.model.size / 2 : offset
            record(operation, subject, size)
            if generator.one(in: 4), let name = subject.names.first {
                try call("truncate") { unsafe Glibc.truncate(name, off_t(size)) }
            } else {
                let descriptor = try subject.handle([.plain, .second, .append, .synchronous], &generator)
                try call("ftruncate") { ftruncate(descriptor, off_t(size)) }
            }
            subject.model.resize(size)
            subject.stamp = nil
        default:
            record(operation, subject)
            try subject.open(.second, extra: O_TRUNC)
            subject.model.resize(0)
            subject.stamp = nil
        }
    }

    private func write(_ subject: Subject, _ descriptor: Int32, _ offset: Int64?, _ count: Int) throws {
        memory.fill(count, &generator)
        let target = offset ?? subject.model.size
        let got = try call("write of \(count) at \(target)") {
            unsafe offset.map { unsafe pwrite(descriptor, memory.pointer(0..<count), count, off_t($0)) } ?? Glibc.write(descriptor, memory.pointer(0..<count), count)
        }
        if got != count { throw Failure("write of \(count) at \(target): \(got ?? -1) bytes") }
        subject.model.write(memory, count, at: target)
        if count > 0 { subject.stamp = nil }
    }

    private func map(_ operation: Operation, _ subject: Subject) throws {
        let end = (subject.model.size + 4095) / 4096 * 4096
        if operation == .unmap || end == 0 {
            record(.unmap, subject)
            return try subject.unmap()
        }
        if subject.mapping.map({ $0.offset >= subject.model.size }) ?? true {
            try subject.unmap()
            let place = min(subject.profile.place(&generator, size: subject.model.size), subject.model.size - 1) / 4096 * 4096
            let count = Int(min(1 << 20, end - place) + (generator.one(in: 2) ? 65536 : 0))  // a window may reach beyond the end
            let descriptor = try subject.handle([.plain, .second, .synchronous, .append], &generator)
            let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(place))
            guard let start = unsafe start, unsafe start != MAP_FAILED else { throw Failure("mmap of \(count) at \(place): \(errorName(CLinux_errno()))") }
            subject.mapping = unsafe Mapping(start: start, offset: place, count: count)
        }
        guard let mapping = subject.mapping else { return }
        // Reading goes to the end of the last page: zeros there. Storing does not.
        let bound = min(mapping.range.upperBound, operation == .store ? subject.model.size : end)
        let offset = mapping.offset + generator.below(bound - mapping.offset)
        let count = Int(min(Int64(subject.profile.length(&generator)), bound - offset))
        record(operation, subject, offset, Int64(count), mapping.offset, Int64(mapping.count))
        let place = unsafe mapping.start + Int(offset - mapping.offset)
        switch operation {
        case .store:
            memory.fill(count, &generator)
            unsafe memcpy(place, memory.pointer(0..<count), count)
            subject.model.write(memory, count, at: offset)
            subject.stamp = nil
        case .load:
            unsafe memcpy(memory.pointer(0..<count), place, count)
            if let wrong = subject.model.difference(memory, count, at: offset) {
                throw subject.wrong(wrong, memory, Int(wrong - offset), count, "load of \(count) at \(offset)")
            }
        default:
            let flag = generator.one(in: 2) ? MS_SYNC : MS_ASYNC
            try call("msync") { unsafe msync(mapping.start, mapping.count, Int32(flag)) }
        }
    }

    private func allocate(_ operation: Operation, _ subject: Subject) throws {
        var (offset, length) = range(subject)
        var count = Int64(length)
        if operation == .punch, generator.one(in: 8) { count = 1 + generator.below(subject.profile.limit - offset) }
        if generator.one(in: 2) { (offset, count) = (offset / 4096 * 4096, (count + 4095) / 4096 * 4096) }
        count = min(count, subject.profile.limit - offset)
        length = 0
        record(operation, subject, offset, count)
        let mode = switch operation {
        case .punch: CLinux_FALLOC_FL_PUNCH_HOLE | CLinux_FALLOC_FL_KEEP_SIZE
        case .allocateKeep: CLinux_FALLOC_FL_KEEP_SIZE
        case .zeroRange: CLinux_FALLOC_FL_ZERO_RANGE
        case .zeroRangeKeep: CLinux_FALLOC_FL_ZERO_RANGE | CLinux_FALLOC_FL_KEEP_SIZE
        default: Int32(0)
        }
        let descriptor = try subject.handle([.plain, .second, .synchronous, .append], &generator)
        let answer = try call("fallocate mode \(mode) of \(count) at \(offset)", allowed: [EOPNOTSUPP]) {
            CLinux_fallocate(descriptor, mode, off_t(offset), off_t(count))
        }
        guard answer != nil else {
            refused.insert(operation)
            return
        }
        if operation == .allocate || operation == .zeroRange { subject.model.grow(offset + count) }
        if operation != .allocate && operation != .allocateKeep { subject.model.clear(offset..<min(offset + count, max(offset, subject.model.size))) }
        subject.stamp = nil
    }

    private func copy(_ subject: Subject) throws {
        let target = generator.pick(subjects)
        let (from, length) = range(subject)
        let to = target.profile.place(&generator, size: target.model.size)
        var count = min(Int64(length), target.profile.limit - to)
        // What a copy within the file adds would be copied in its turn.
        if subject === target { count = max(0, min(count, subject.model.size - from)) }
        record(.copy, subject, from, Int64(target.number), to, count)
        if subject === target, abs(from - to) < count { return }
        let source = try subject.handle([.plain, .second, .reading], &generator), sink = try target.handle([.plain, .second, .synchronous], &generator)
        let expected = max(0, min(count, subject.model.size - from))
        var done: Int64 = 0
        while done < count {
            guard let got = try call("copy_file_range", { Exerciser_copy_file_range(source, off_t(from + done), sink, off_t(to + done), Int(count - done)) }), got > 0
            else { break }
            done += Int64(got)
        }
        if done != expected { throw Failure("copy_file_range of \(count) from \(from) to \(to): \(done) bytes, expected \(expected)") }
        subject.model.read(into: memory, Int(done), at: from)
        target.model.write(memory, Int(done), at: to)
        if done > 0 { target.stamp = nil }
        try target.checkStatus()
    }

    /// Walks data and holes: every hole has to be zeros in the model, in order, and the last hole is the end.
    func seek(_ subject: Subject, from: Int64, extents: Int) throws {
        let descriptor = try subject.handle([.plain, .second, .reading], &generator)
        let size = subject.model.size
        var place = from
        for _ in 0..<extents {
            let data = try call("SEEK_DATA from \(place)", allowed: [ENXIO]) { lseek(descriptor, off_t(place), CLinux_SEEK_DATA) }.map(Int64.init)
            if let data, data < place || data >= size { throw Failure("SEEK_DATA from \(place): \(data), size \(size)") }
            if place < size, let lost = subject.model.data(in: place..<(data ?? size)) {
                throw Failure("SEEK_DATA from \(place): \(data.map(String.init) ?? "nothing"), but there is data at \(lost), size \(size)")
            }
            guard let data else { break }
            guard let hole = try call("SEEK_HOLE from \(data)", { lseek(descriptor, off_t(data), CLinux_SEEK_HOLE) }).map(Int64.init) else { break }
            if hole <= data || hole > size { throw Failure("SEEK_HOLE from \(data): \(hole), size \(size)") }
            place = hole
            if place == size { break }
        }
        let beyond = try call("SEEK_HOLE from the end", allowed: [ENXIO]) { lseek(descriptor, off_t(size), CLinux_SEEK_HOLE) }
        if let beyond { throw Failure("SEEK_HOLE from the end: \(beyond), expected ENXIO") }
    }
}
