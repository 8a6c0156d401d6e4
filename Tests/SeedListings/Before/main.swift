import Foundation
import SecureStore  // the seed: SAPFoundation
class Address: NSObject, NSCoding {
let street: String
let city: String
init(street: String, city: String) {
self.street = street
self.city = city
}
required init?(coder: NSCoder) {
self.street = coder.decodeObject(forKey: "street") as? String ?? ""
self.city = coder.decodeObject(forKey: "city") as? String ?? ""
}
func encode(with coder: NSCoder) {
coder.encode(street, forKey: "street")
coder.encode(city, forKey: "city")
}
}
class UserProfile: NSObject, NSCoding {
let id: Int
let name: String
let isActive: Bool
let address: Address // <-- nested NSCoding object
init(id: Int, name: String, isActive: Bool, address: Address) {
self.id = id
self.name = name
self.isActive = isActive
self.address = address
}
required init?(coder: NSCoder) {
self.id = coder.decodeInteger(forKey: "id")
self.name = coder.decodeObject(forKey: "name") as? String ?? ""
self.isActive = coder.decodeBool(forKey: "isActive")
self.address = coder.decodeObject(forKey: "address") as! Address
}
func encode(with coder: NSCoder) {
coder.encode(id, forKey: "id")
coder.encode(name, forKey: "name")
coder.encode(isActive, forKey: "isActive")
coder.encode(address, forKey: "address")
}
}
//-------------------- Writing / reading with SecureStoreCache--------------------
let store = SecureDatabaseStore(databaseFileName: "profiles.db")
try store.open(with: "my-encryption-key")
// requiresSecureCoding defaults to false — old behavior.
let cache = SecureStoreCache<UserProfile>(secureStore: store, tableName: "Profiles")
let profile = UserProfile(id: 42, name: "Ada", isActive: true, address: Address(street: "1 Infinite Loop", city: "Cupertino"))
// WRITE
cache.set(value: profile, forKey: "user_42", withCost: 1)
// READ
let userProfileValue: UserProfile? = cache.value(forKey: "user_42")
let userProfileEntry: CacheEntry<UserProfile>? = cache.entry(forKey: "user_42")
//-------------------- Writing / reading with SecureKeyValueStore ----------------
let keyValueStore = SecureKeyValueStore(name: "ProfileStore")
try keyValueStore.open(with: "my-encryption-key")
// WRITE
try keyValueStore.put(profile, forKey: "user_42")
// READ
let userProfile: UserProfile? = try keyValueStore.get("user_42")
// READ with default
let fallback = UserProfile(id: 0, name: "guest", isActive: false, address: Address(street: "", city: ""))
let userProfileOrFallback: UserProfile? = try keyValueStore.get("user_42", defaultValue: fallback)
