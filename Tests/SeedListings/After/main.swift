import Foundation
import SecureStore  // the seed: SAPFoundation
class Address: NSObject, NSSecureCoding {
// 1. Declare secure coding support.
static var supportsSecureCoding: Bool { true }
let street: String
let city: String
init(street: String, city: String) {
self.street = street
self.city = city
}
// 2. encode(with:) is UNCHANGED.
func encode(with coder: NSCoder) {
coder.encode(street, forKey: "street")
coder.encode(city, forKey: "city")
}
// 3. Strings are objects -> decode securely against NSString.
required init?(coder: NSCoder) {
self.street = coder.decodeObject(of: NSString.self,
forKey: "street") as String? ?? ""
self.city = coder.decodeObject(of: NSString.self,
forKey: "city") as String? ?? ""
}
}
class UserProfile: NSObject, NSSecureCoding {
static var supportsSecureCoding: Bool { true }
let id: Int
let name: String
let isActive: Bool
let address: Address // nested type — also NSSecureCoding now
init(id: Int, name: String, isActive: Bool, address: Address) {
self.id = id
self.name = name
self.isActive = isActive
self.address = address
}
// encode(with:) is UNCHANGED from the NSCoding version.
func encode(with coder: NSCoder) {
coder.encode(id, forKey: "id")
coder.encode(name, forKey: "name")
coder.encode(isActive, forKey: "isActive")
coder.encode(address, forKey: "address")
}
required init?(coder: NSCoder) {
// Primitive types (Int, Bool) are UNCHANGED.
self.id = coder.decodeInteger(forKey: "id")
self.isActive = coder.decodeBool(forKey: "isActive")
// Objects use the secure decode
self.name = coder.decodeObject(of: NSString.self,
forKey: "name") as String? ?? ""
guard let address = coder.decodeObject(of: Address.self,
forKey: "address") else {
return nil
}
self.address = address
}
}
//-------------------- Writing / reading with SecureStoreCache--------------------
let store = SecureDatabaseStore(databaseFileName: "profiles.db")
try store.open(with: "my-encryption-key")
let cache = SecureStoreCache<UserProfile>(secureStore: store, tableName: "Profiles", requiresSecureCoding: true) // <-- Opt in to secure coding.
let profile = UserProfile(id: 42, name: "Ada", isActive: true, address: Address(street: "1 Infinite Loop", city: "Cupertino"))
// WRITE — unchanged
cache.set(value: profile, forKey: "user_42", withCost: 1)
// READ — must use the allowedClasses overload.
let userProfileValue: UserProfile? = cache.value(forKey: "user_42", allowedClasses: [UserProfile.self, Address.self])
let userProfileEntry: CacheEntry<UserProfile>? = cache.entry(forKey: "user_42", allowedClasses: [UserProfile.self, Address.self])
//-------------------- Writing / reading with SecureKeyValueStore ----------------
let keyValueStore = SecureKeyValueStore(name: "ProfileStore", requiresSecureCoding: true) // <-- Opt in to secure coding.
try keyValueStore.open(with: "my-encryption-key")
// WRITE
try keyValueStore.put(profile, forKey: "user_42")
// READ — use the allowedClasses overload.
let userProfile: UserProfile? = try keyValueStore.get("user_42", allowedClasses: [UserProfile.self, Address.self])
let fallback = UserProfile(id: 0, name: "guest", isActive: false, address: Address(street: "", city: ""))
let userProfileOrFallback: UserProfile? = try keyValueStore.get("user_42", defaultValue: fallback, allowedClasses: [UserProfile.self, Address.self])
// --- If the value is a collection ------------------------------------------
// When the stored value is an array/dictionary/set, add the container class too, e.g. a cached [UserProfile]
let list = cache.value(forKey: "all_users", allowedClasses: [NSArray.self, UserProfile.self, Address.self])
let kv = keyValueStore  // not in the seed, whose next line names a constant it has not declared
let listFromKeyValueStore: [UserProfile]? = try kv.get("all_users", allowedClasses: [NSArray.self, UserProfile.self, Address.self])
