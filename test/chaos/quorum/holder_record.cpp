#include "quorum/holder_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::test {

namespace {

[[noreturn]] void fail(char const* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

}  // namespace

// A lock that the system takes back from a process that is killed.
class holder_record::turn {
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

holder_record::holder_record(std::string const& path)
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

holder_record::~holder_record() {
    ::munmap(all_, sizeof(contents));
    ::close(file_);
}

bool holder_record::enter(std::uint64_t token, lease_clock::time_point until) {
    turn const mine{file_};
    auto const now = lease_clock::now().time_since_epoch().count();
    auto const end = until.time_since_epoch().count();
    if (end <= now) {
        return false;
    }
    ++all_->seen.entries;
    all_->seen.overlaps += all_->until > now ? 1 : 0;
    all_->seen.stale_tokens += token <= all_->last_token ? 1 : 0;
    all_->last_token = token;
    all_->until = end;
    return true;
}

void holder_record::leave(std::uint64_t token) {
    turn const mine{file_};
    if (all_->last_token == token) {
        all_->until = 0;
    }
}

holder_record::counts holder_record::read() const {
    turn const mine{file_};
    return all_->seen;
}

}  // namespace holdfast::test
