# Options, language level, warnings, sanitizers, compiler cache.
option(LEROBOT_BUILD_TRAINER "Build what needs torch: the trainer library and the plugins" ON)
option(LEROBOT_BUILD_TESTS "Build the tests" ON)
option(LEROBOT_BUILD_BENCH "Build the benchmarks" OFF)
option(LEROBOT_BUNDLE_TORCH "Make the package torch-cpu from the libtorch of the build; OFF: plugins use it where it is" ON)
option(LEROBOT_WERROR "Treat warnings as errors" ON)
set(LEROBOT_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address;undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The build tree is laid out as an installation, so that programs find their libraries and plugins the same way in both.
set(LEROBOT_STAGE ${PROJECT_BINARY_DIR}/stage)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
include(GNUInstallDirs)

add_library(lerobot_warnings INTERFACE)
target_compile_options(lerobot_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(LEROBOT_WERROR)
  target_compile_options(lerobot_warnings INTERFACE -Werror)
endif()

if(LEROBOT_SANITIZE)
  list(JOIN LEROBOT_SANITIZE "," _sanitize)
  add_compile_options(-fsanitize=${_sanitize} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${_sanitize})
endif()

find_program(LEROBOT_CCACHE ccache)
if(LEROBOT_CCACHE)
  # ccache needs these to serve files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${LEROBOT_CCACHE})
endif()
