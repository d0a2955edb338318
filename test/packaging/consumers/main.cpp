// What all consumers build: takes a lock on the server whose URL is the argument.
#include <holdfast.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>

int main(int, char** argv) {
    boost::asio::io_context context;
    holdfast::client client{context, argv[1]};
    client.lock("consumer").acquire([&](holdfast::error_code ec, holdfast::lease lease) {
        std::cout << (ec ? ec.message() : "token") << ' ' << lease.token().value << '\n';
        client.shutdown([](holdfast::error_code) {});
    });
    context.run();
}
