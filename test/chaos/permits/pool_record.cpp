#include "permits/pool_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace holdfast::test {

namespace {

[[noreturn]] void fail(char const* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

}  // namespace

// A lock that the system takes back from a process that is killed.
class pool_record::turn {
public:
    explicit turn(int file) : file_{file} {
        while (::flock(file_, LOCK_EX) != 0) {
            if (errno != EINTR) {
                fail("flock");
            }
        }
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { ::flock(file_, LOCK_UN); }

private:
    int file_;
};

pool_record::pool_record(std::string const& path)
    : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
    if (file_ < 0 || ::ftruncate(file_, sizeof(contents)) != 0) {
        fail("opening the record");
    }
    void* const at =
        ::mmap(nullptr, sizeof(contents), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) {
        fail("mmap");
    }
    all_ = static_cast<contents*>(at);
}

pool_record::~pool_record() {
    ::munmap(all_, sizeof(contents));
    ::close(file_);
}

void pool_record::enter(std::size_t holder, std::int64_t permits, lease_clock::time_point until) {
    turn const mine{file_};
    all_->holders.at(holder) = {permits, until.time_since_epoch().count()};
    auto const now = lease_clock::now().time_since_epoch().count();
    std::int64_t valid = 0;
    for (auto const& one : all_->holders) {
        valid += one.until > now ? one.permits : 0;
    }
    all_->most = std::max(all_->most, valid);
    ++all_->entries;
}

void pool_record::leave(std::size_t holder) {
    turn const mine{file_};
    all_->holders.at(holder) = {};
}

std::int64_t pool_record::most() const {
    turn const mine{file_};
    return all_->most;
}

std::int64_t pool_record::entries() const {
    turn const mine{file_};
    return all_->entries;
}

}  // namespace holdfast::test
