// Whoever imports SecureStore has the database types as well.
@_exported import SecureStoreCore
