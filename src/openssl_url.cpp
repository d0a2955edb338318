#include "openssl_url.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/http.h>

namespace holdfast::detail {

openssl_url::openssl_url(std::string const& text) {
    char* found[4] = {};
    int port_number = 0;
    // The queue of errors is the thread's: what the program finds in it later is its own.
    ERR_set_mark();
    valid_ = OSSL_parse_url(
                 text.c_str(),
                 &found[0],
                 &found[1],
                 &found[2],
                 &found[3],
                 &port_number,
                 nullptr,
                 nullptr,
                 nullptr
             ) == 1;
    ERR_pop_to_mark();
    for (int i = 0; i < 4; ++i) {
        parts_[i].reset(found[i]);
    }
}

void openssl_url::free_text::operator()(char* text) const noexcept {
    OPENSSL_free(text);
}

}  // namespace holdfast::detail
