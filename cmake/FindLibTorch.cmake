# Finds a libtorch by its headers and its two device-neutral libraries; the umbrella libtorch.so would drag in a vendor's.
#   LIBTORCH_ROOT     where to look: an unpacked libtorch or site-packages/torch. Default: .deps/torch
#   LibTorch::torch   target to compile and link against
#   LibTorch_VERSION, LibTorch_ABI (major.minor), LibTorch_LIBRARY_DIR
set(LIBTORCH_ROOT "${PROJECT_SOURCE_DIR}/.deps/torch" CACHE PATH "An unpacked libtorch")
find_path(LibTorch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h PATHS ${LIBTORCH_ROOT}/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
foreach(header torch/headeronly/version.h torch/version.h torch/csrc/api/include/torch/version.h)
  if(NOT LibTorch_VERSION AND EXISTS "${LibTorch_INCLUDE_DIR}/${header}")
    file(STRINGS "${LibTorch_INCLUDE_DIR}/${header}" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" _numbers "${_lines}")
    list(JOIN _numbers "." LibTorch_VERSION)
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup, or set LIBTORCH_ROOT to an unpacked libtorch")
if(LibTorch_FOUND AND NOT TARGET LibTorch::torch)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" LibTorch_ABI "${LibTorch_VERSION}")
  get_filename_component(LibTorch_LIBRARY_DIR "${LibTorch_CPU_LIBRARY}" DIRECTORY)
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}")
  add_library(LibTorch::torch SHARED IMPORTED)
  set_target_properties(LibTorch::torch PROPERTIES IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS AT_PER_OPERATOR_HEADERS
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
  # The CUDA build's libraries name others beside them (cudart, cupti); the linker need not resolve those.
  target_link_options(LibTorch::torch INTERFACE LINKER:--unresolved-symbols=ignore-in-shared-libs)
endif()
