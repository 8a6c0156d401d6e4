import CFuse
import SecureFileCore
