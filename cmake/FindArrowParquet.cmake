# Arrow and Parquet C++: an installed package of version 25 or newer if CMake finds one, else what scripts/setup unpacked into .deps/arrow.
#   ArrowParquet::parquet            target
#   ArrowParquet_BUNDLED_LIBRARIES   shared libraries to ship beside the trainer (empty for an installed Arrow)
find_package(Arrow CONFIG QUIET)
find_package(Parquet CONFIG QUIET)
include(FindPackageHandleStandardArgs)
if(Arrow_FOUND AND Parquet_FOUND AND Arrow_VERSION VERSION_GREATER_EQUAL 25)
  find_package_handle_standard_args(ArrowParquet REQUIRED_VARS Arrow_DIR Parquet_DIR)
  add_library(ArrowParquet::parquet ALIAS Parquet::parquet_shared)
  set(ArrowParquet_BUNDLED_LIBRARIES "")
else()
  set(ARROW_ROOT "${PROJECT_SOURCE_DIR}/.deps/arrow" CACHE PATH "Arrow headers and libraries (include/, lib/)")
  find_path(ArrowParquet_INCLUDE_DIR arrow/api.h PATHS ${ARROW_ROOT}/include NO_DEFAULT_PATH)
  find_library(ArrowParquet_ARROW_LIBRARY arrow PATHS ${ARROW_ROOT}/lib NO_DEFAULT_PATH)
  find_library(ArrowParquet_PARQUET_LIBRARY parquet PATHS ${ARROW_ROOT}/lib NO_DEFAULT_PATH)
  find_package_handle_standard_args(ArrowParquet
    REQUIRED_VARS ArrowParquet_PARQUET_LIBRARY ArrowParquet_ARROW_LIBRARY ArrowParquet_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "run scripts/setup, or set Arrow_DIR and Parquet_DIR to an installed Arrow")
  if(ArrowParquet_FOUND AND NOT TARGET ArrowParquet::parquet)
    add_library(ArrowParquet::arrow SHARED IMPORTED)
    set_target_properties(ArrowParquet::arrow PROPERTIES IMPORTED_LOCATION "${ArrowParquet_ARROW_LIBRARY}")
    add_library(ArrowParquet::parquet SHARED IMPORTED)
    set_target_properties(ArrowParquet::parquet PROPERTIES IMPORTED_LOCATION "${ArrowParquet_PARQUET_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${ArrowParquet_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES ArrowParquet::arrow)
    get_filename_component(_dir "${ArrowParquet_ARROW_LIBRARY}" DIRECTORY)
    file(GLOB ArrowParquet_BUNDLED_LIBRARIES "${_dir}/libarrow.so.*" "${_dir}/libparquet.so.*")
  endif()
endif()
