# One function for each kind of target, so that rooms' CMakeLists only list their sources.

# lerobot_add_room(NAME SOURCES... [LIBS...] [OBJECT]): one room, include paths from the project's root.
# OBJECT for the rooms that make up liblerobot_host, a static library for the others.
function(lerobot_add_room name)
  cmake_parse_arguments(ARG "OBJECT" "" "SOURCES;LIBS" ${ARGN})
  set(kind STATIC)
  if(ARG_OBJECT)
    set(kind OBJECT)
  endif()
  add_library(lerobot_${name} ${kind} ${ARG_SOURCES})
  add_library(lerobot::${name} ALIAS lerobot_${name})
  target_include_directories(lerobot_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(lerobot_${name} PUBLIC ${ARG_LIBS} PRIVATE lerobot_warnings)
endfunction()

# lerobot_add_torch_room(NAME SOURCES... [LIBS...]): a room of the trainer library that uses torch.
function(lerobot_add_torch_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  lerobot_add_room(${name} SOURCES ${ARG_SOURCES} LIBS ${ARG_LIBS} LibTorch::torch lerobot_host)
  lerobot_use_torch_pch(lerobot_${name})
endfunction()

# Compiles the target with the precompiled header cmake/NAME_pch.h, which is made once, with LIBS, and shared by all.
function(lerobot_use_pch target name)
  set(maker lerobot_${name}_pch)
  if(NOT TARGET ${maker})
    add_library(${maker} OBJECT ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
    target_link_libraries(${maker} PRIVATE ${ARGN} lerobot_warnings)
    target_precompile_headers(${maker} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${name}_pch.h)
  endif()
  # It is made with -fPIC, and an executable would get -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${maker})
endfunction()

# That of torch's types.
function(lerobot_use_torch_pch target)
  lerobot_use_pch(${target} torch LibTorch::torch)
endfunction()

# lerobot_add_program(NAME SOURCES... [LIBS...]): an executable in stage/bin that links liblerobot_host and no torch.
function(lerobot_add_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE lerobot_host ${ARG_LIBS} lerobot_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${LEROBOT_STAGE}/bin INSTALL_RPATH "$ORIGIN/../lib"
    BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT host)
endfunction()

# lerobot_add_test(NAME LABEL SOURCES... [LIBS...] [TORCH] [DEPENDS targets that must be built] [RUN_SERIAL] [WHOLE]):
# a GoogleTest binary whose cases become CTest tests. LABEL: unit, integration, parity, abi, package or gpu.
# WHOLE: the binary is one CTest test, where starting it (loading torch, a plugin) costs more than its cases.
function(lerobot_add_test name label)
  cmake_parse_arguments(ARG "TORCH;RUN_SERIAL;WHOLE" "TIMEOUT" "SOURCES;LIBS;DEPENDS" ${ARGN})
  if(ARG_TORCH AND NOT LEROBOT_BUILD_TRAINER)
    return()  # the sanitized builds are those without torch
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} lerobot_host GTest::gmock GTest::gtest_main lerobot_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE LEROBOT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    LEROBOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LEROBOT_STAGE="${LEROBOT_STAGE}" LEROBOT_BUILD_DIR="${PROJECT_BINARY_DIR}")
  if(ARG_TORCH)
    target_link_libraries(${name} PRIVATE LibTorch::torch)
    lerobot_use_pch(${name} torch_test LibTorch::torch GTest::gmock)
  else()
    lerobot_use_pch(${name} test GTest::gmock)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(ARG_RUN_SERIAL)
    set(serial RUN_SERIAL ON)
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT} ${serial})
    return()
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT} ${serial})
endfunction()
