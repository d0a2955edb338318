#include "cli/program.hpp"

#include <iostream>

int main(int count, char** arguments) {
    return holdfast::cli::program(count, arguments, std::cout, std::cerr);
}
