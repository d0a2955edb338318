#ifndef HOLDFAST_EXPORT_HPP
#define HOLDFAST_EXPORT_HPP

/// Marks what a shared library shows to its users; everything else in it is hidden. The build
/// defines `HOLDFAST_SHARED` for the library and for those who link to it. In a static library
/// nothing is marked, so that it stays inside the program or plugin that it becomes a part of.
#ifdef HOLDFAST_SHARED
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#else
#define HOLDFAST_EXPORT
#endif

#endif
