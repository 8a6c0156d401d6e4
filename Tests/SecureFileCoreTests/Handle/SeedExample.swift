import Foundation
import SecureFileCore

/// The example of AppConnect's guide, with the names of the language changed and nothing else. README.md shows it; a test runs it.
func ACFileHandleExample() -> (duplicate: Data?, etcGroupData: Data?, error: (any Error)?) {
    let secureFileName = "/tmp/secureGroup"
    var error: (any Error)?

    // Read the contents of /etc/group
    let etcGroupData = FileManager.default.contents(atPath: "/etc/group")

    // Use the default file manager to create the secure file.
    _ = FileManager.default.createFile(atPath: secureFileName, contents: nil, attributes: nil)

    // Get the file handle for writing to the secure file just created.
    var acFileHandle = ACFileHandle(forWritingAtPath: secureFileName, error: &error)

    // Write the contents of /etc/group to the secure file.
    acFileHandle?.write(etcGroupData ?? Data(), error: &error)

    // Close the secure file.
    acFileHandle?.closeFile()

    // Open the secure file for reading.
    acFileHandle = ACFileHandle(forReadingAtPath: secureFileName, error: &error)

    // Read entire contents of the secure file.
    let duplicate = acFileHandle?.readDataToEndOfFile(error: &error)

    // Close the secure file
    acFileHandle?.closeFile()

    // Note: The contents of Data values 'duplicate' and 'etcGroupData' are identical.
    return (duplicate, etcGroupData, error)
}
