import SecureFS
