// What SecureFileCore/Crypto/OpenSSL needs of libcrypto, and nothing else.
#ifndef SECUREFS_COPENSSL_SHIM_H
#define SECUREFS_COPENSSL_SHIM_H
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#endif
