#ifndef HOLDFAST_TEST_SUPPORT_SHARED_RECORD_HPP
#define HOLDFAST_TEST_SUPPORT_SHARED_RECORD_HPP

#include <cstddef>
#include <string>
#include <type_traits>

namespace holdfast::test {

/// A file that several processes have mapped into their memory, and a lock on it.
class shared_file {
public:
    /// Makes the file, filled with zeros, if it is not there.
    shared_file(std::string const& path, std::size_t size);
    shared_file(shared_file const&) = delete;
    shared_file& operator=(shared_file const&) = delete;
    ~shared_file();

    [[nodiscard]] void* data() const noexcept { return data_; }

    /// Waits until no other process has the lock. The system takes the lock back from a process
    /// that is killed.
    void lock() const;
    void unlock() const noexcept;

private:
    int file_;
    std::size_t size_;
    void* data_;
};

/// `Contents` that several processes read and write, one at a time. They begin as zeros.
template <typename Contents>
    requires std::is_trivially_copyable_v<Contents>
class shared_record {
public:
    /// The right to use the contents. It ends with this object.
    class turn {
    public:
        explicit turn(shared_file const& in) : file_{in} { file_.lock(); }
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;
        ~turn() { file_.unlock(); }

        [[nodiscard]] Contents* operator->() const noexcept {
            return static_cast<Contents*>(file_.data());
        }

    private:
        shared_file const& file_;
    };

    explicit shared_record(std::string const& path) : file_{path, sizeof(Contents)} {}

    [[nodiscard]] turn take_turn() const { return turn{file_}; }

private:
    shared_file file_;
};

}  // namespace holdfast::test

#endif
