// What SecureFileCore/Crypto/Argon2 needs of libargon2.
#ifndef SECUREFS_CARGON2_SHIM_H
#define SECUREFS_CARGON2_SHIM_H
#include <argon2.h>
#endif
