#ifndef HOLDFAST_TEST_SIMULATION_NAMES_HPP
#define HOLDFAST_TEST_SIMULATION_NAMES_HPP

#include <string>
#include <string_view>

namespace holdfast::sim {

// The name of a lock tells its kind. In some schedules all names begin with a `config::key_prefix`,
// which ends with a slash, and a name may have a hash tag.

/// What a program calls it: the name without the prefix.
[[nodiscard]] inline std::string_view without_prefix(std::string_view lock) {
    return lock.substr(lock.find('/') + 1);
}
/// How a key or a channel that is derived from it ends.
[[nodiscard]] inline std::string tagged(std::string_view lock) {
    bool const has_tag = lock.find('{') != lock.npos;
    return has_tag ? std::string{lock} : '{' + std::string{lock} + '}';
}

[[nodiscard]] inline bool is_fair(std::string_view lock) {
    return without_prefix(lock).starts_with("fair");
}
[[nodiscard]] inline bool is_pool(std::string_view lock) {
    return without_prefix(lock).starts_with("pool");
}
/// What a user asks for of a read/write lock is one side: the name with `:r` or `:w`.
[[nodiscard]] inline bool is_read_write(std::string_view lock) {
    return without_prefix(lock).starts_with("rw");
}
[[nodiscard]] inline bool is_reader(std::string_view side) {
    return is_read_write(side) && side.ends_with(":r");
}
[[nodiscard]] inline bool is_writer(std::string_view side) {
    return is_read_write(side) && side.ends_with(":w");
}
/// The name of the lock on the server.
[[nodiscard]] inline std::string lock_of(std::string_view side) {
    return std::string{
        side.substr(0, side.size() - (is_read_write(side) && side.find(':') != side.npos ? 2 : 0))
    };
}

}  // namespace holdfast::sim

#endif
