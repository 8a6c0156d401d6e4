import SecureFileCore
import Testing

/// The hidden store directory of a mount.
@Suite(.enabled(if: MountSupport.isThere))
struct StoreMountTests {
    private static let script = """
        set -e
        echo file > plain
        mkdir .stores/Settings; echo dark > .stores/Settings/theme
        [ "$(cat .stores/Settings/theme)" = dark ]
        echo light >> .stores/Settings/theme
        [ "$(stat -c %s .stores/Settings/theme)" = 11 ]
        mv .stores/Settings/theme .stores/Settings/color
        [ "$(ls .stores/Settings)" = color ]
        [ "$(ls .stores)" = Settings ]
        [ "$(ls -A)" = plain ]
        [ "$(find . | sort | tr '\\n' ' ')" = ". ./plain " ]
        cp -r . ../copy; [ ! -e ../copy/.stores ]
        printf x > '.stores/Settings/a%2Fb'
        head -c 200000 /dev/urandom > random; cp random .stores/Settings/blob; cmp random .stores/Settings/blob
        mv .stores/Settings/blob blob; cmp random blob; mv blob .stores/Settings/; [ ! -e blob ]
        truncate -s 3 .stores/Settings/color; [ "$(cat .stores/Settings/color)" = dar ]
        rm -rf ./* ; [ -e .stores/Settings/blob ]
        ! rmdir .stores/Settings 2> /dev/null
        ! mkdir .stores/Settings/sub 2> /dev/null
        ! ln -s x .stores/Settings/link 2> /dev/null
        ! rmdir .stores 2> /dev/null
        rm .stores/Settings/blob; [ ! -e .stores/Settings/blob ]
        """

    @Test func valuesAreFiles() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let outcome = try fixture.shell(Self.script)
        #expect(outcome.code == 0, "\(outcome)")
        // Another process, at the same time.
        let vault = fixture.vault
        let key = ["--passfile", vault.passfile]
        func store(_ words: [String], input: String? = nil) throws -> Sfs.Outcome {
            try Sfs.run((["store", words[0], vault.path] + words.dropFirst() + key).map { RawPath($0) }, input: input.map { Array($0.utf8) })
        }
        #expect(try store(["ls", "Settings"]).text == "a/b\ncolor\n")
        #expect(try store(["get", "Settings", "a/b"]).text == "x")
        for round in 0..<5 {
            #expect(try store(["put", "Settings", "shared"], input: String(repeating: "x", count: round * 10 + 1)).code == 0)
            #expect(try fixture.shell("wc -c < .stores/Settings/shared").text == "\(round * 10 + 1)\n")
            #expect(try fixture.shell("printf 'from the mount \(round)' > .stores/Settings/shared").code == 0)
            #expect(try store(["get", "Settings", "shared"]).text == "from the mount \(round)")
        }
        #expect(try store(["rm", "Settings"]).code == 0)
        #expect(try fixture.shell("ls .stores").text == "")
        #expect(try fixture.umount().code == 0)
    }

    @Test func aValueIsPutWhole() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let outcome = try fixture.shell(
            """
            set -e; mkdir .stores/S
            python3 -c 'import os
            f = open(".stores/S/k", "wb", buffering=0); f.write(b"one"); assert not os.path.exists(".stores/S/k")
            os.fsync(f.fileno()); assert os.path.getsize(".stores/S/k") == 3
            f.write(b"two"); assert os.path.getsize(".stores/S/k") == 3; f.close()'
            [ "$(cat .stores/S/k)" = onetwo ]
            ! truncate -s 100M .stores/S/k 2> /dev/null; [ "$(cat .stores/S/k)" = onetwo ]
            """)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try fixture.umount().code == 0)
    }

    @Test func itIsListedWhereAskedFor() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount("-o", "show_stores").code == 0)
        #expect(try fixture.shell("for i in $(seq 500); do : > $i; done; ls -A | wc -l; ls -Ad .stores").text == "501\n.stores\n")
        #expect(try fixture.umount().code == 0)
    }
}
