#ifndef HOLDFAST_EXPORT_HPP
#define HOLDFAST_EXPORT_HPP

/// Marks what a shared library exports; everything else in it is hidden. The build defines
/// `HOLDFAST_SHARED` for the library and for programs that link to it. A static library marks
/// nothing, so that its symbols stay inside the program or plugin that it becomes part of.
#ifdef HOLDFAST_SHARED
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#else
#define HOLDFAST_EXPORT
#endif

#endif
