import Glibc

exit(Program.run(ArgumentVector()).rawValue)
