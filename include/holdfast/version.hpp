#ifndef HOLDFAST_VERSION_HPP
#define HOLDFAST_VERSION_HPP

/// @file
/// The version of the library.

/// @{
/// A part of the version: a release that changes `MAJOR`, or `MINOR` while `MAJOR` is 0, may break
/// programs.
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0
/// @}

/// The version as a number that can be compared: 10203 stands for 1.2.3.
#define HOLDFAST_VERSION \
    (HOLDFAST_VERSION_MAJOR * 10000 + HOLDFAST_VERSION_MINOR * 100 + HOLDFAST_VERSION_PATCH)

/// The version as text: `major.minor.patch`.
#define HOLDFAST_VERSION_STRING "0.1.0"

#endif
