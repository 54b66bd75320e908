# Packages under lib/lerobot/accel.d/ (docs/plugin-manifest.md). Also installed with the plugin SDK, for plugins that are
# built outside of this tree.
set(LEROBOT_PLUGIN_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_manifest.cmake)
set(LEROBOT_TORCH_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/stage_torch.cmake)
set(LEROBOT_PACKAGES lib/lerobot/accel.d)
if(NOT LEROBOT_STAGE)
  set(LEROBOT_STAGE ${CMAKE_BINARY_DIR}/stage)
endif()
if(NOT TARGET lerobot_warnings)
  add_library(lerobot_warnings INTERFACE)
endif()

# lerobot_add_accelerator_plugin(ID PROBE sources SOURCES sources MANIFEST manifest.json.in [LIBS libs]
#   [VERSION v] [DIRECTORY dir]): one plugin package, below the stage's accel.d, or below dir and then not installed. The
# thin library gets the SDK alone, the full one torch and LIBS as well; each exports its one entry symbol and has no RPATH.
# In the manifest's template, @LEROBOT_PLUGIN_VERSION@ and the like are replaced, and sha256 is filled in after linking and
# again after installing.
function(lerobot_add_accelerator_plugin id)
  cmake_parse_arguments(ARG "" "MANIFEST;VERSION;DIRECTORY" "PROBE;SOURCES;LIBS" ${ARGN})
  if(NOT ARG_VERSION)
    set(ARG_VERSION ${PROJECT_VERSION})
  endif()
  lerobot_plugin_library(lerobot_probe_${id} lra_probe ${id} ${ARG_VERSION}
    DIRECTORY ${ARG_DIRECTORY} SOURCES ${ARG_PROBE} LIBS lerobot::accel_sdk)
  if(NOT TARGET lerobot::accel_sdk_torch)
    return()  # a sanitized build, without torch: the probe alone, for its tests
  endif()
  lerobot_plugin_library(lerobot_accel_${id} lra_get_api ${id} ${ARG_VERSION}
    DIRECTORY ${ARG_DIRECTORY} SOURCES ${ARG_SOURCES} LIBS ${ARG_LIBS} lerobot::accel_sdk_torch)

  set(LEROBOT_PLUGIN_VERSION ${ARG_VERSION})
  set(LEROBOT_PLUGIN_PROBE liblerobot_probe_${id}.so)
  set(LEROBOT_PLUGIN_LIBRARY liblerobot_accel_${id}.so)
  if(NOT ARG_DIRECTORY)
    set_property(GLOBAL APPEND PROPERTY LEROBOT_PLUGINS ${id})  # for tests over all plugins
  endif()
  lerobot_plugin_manifest(${id} ${ARG_MANIFEST} plugin-${id} DIRECTORY ${ARG_DIRECTORY}
    FILES ${LEROBOT_PLUGIN_PROBE} ${LEROBOT_PLUGIN_LIBRARY} DEPENDS lerobot_probe_${id} lerobot_accel_${id})
endfunction()

# lerobot_json_list(VARIABLE texts...): sets VARIABLE to the inside of a JSON array, for a manifest's template.
function(lerobot_json_list variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE texts)
  list(JOIN texts ", " texts)
  set(${variable} "${texts}" PARENT_SCOPE)
endfunction()

# lerobot_add_torch_package(ID MANIFEST template): the libtorch that LibTorch::torch names, as a package for plugins to
# share. Hard links where the file system allows: two copies of libtorch abort a process, and copies are told apart by inode.
function(lerobot_add_torch_package id)
  cmake_parse_arguments(ARG "" "MANIFEST" "" ${ARGN})
  # In the order in which they can be opened; a libtorch without CUDA has fewer.
  set(names "")
  foreach(pattern libgomp*.so* libomp*.so* libcudart*.so* libcupti*.so* libc10.so libtorch_cpu.so)
    file(GLOB found RELATIVE ${LibTorch_LIBRARY_DIR} "${LibTorch_LIBRARY_DIR}/${pattern}")
    list(APPEND names ${found})
  endforeach()
  list(TRANSFORM names PREPEND "lib/" OUTPUT_VARIABLE files)
  list(JOIN files "\", \"" LEROBOT_TORCH_PRELOAD)
  set(LEROBOT_TORCH_PRELOAD "[\"${LEROBOT_TORCH_PRELOAD}\"]")

  set(package ${LEROBOT_STAGE}/${LEROBOT_PACKAGES}/${id})
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${id}.stamp)
  list(TRANSFORM names PREPEND "${LibTorch_LIBRARY_DIR}/" OUTPUT_VARIABLE sources)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${sources}" -DDESTINATION=${package}/lib -P ${LEROBOT_TORCH_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${sources} ${LEROBOT_TORCH_SCRIPT} VERBATIM COMMENT "Staging ${id}")
  install(FILES ${sources} DESTINATION ${LEROBOT_PACKAGES}/${id}/lib COMPONENT ${id}
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  lerobot_plugin_manifest(${id} ${ARG_MANIFEST} ${id} FILES ${files} DEPENDS ${stamp})
endfunction()

# Where a package lies in the build tree.
function(lerobot_package_directory variable id directory)
  if(NOT directory)
    set(directory ${LEROBOT_STAGE}/${LEROBOT_PACKAGES})
  endif()
  set(${variable} ${directory}/${id} PARENT_SCOPE)
endfunction()

# One library of a plugin: a MODULE, which nothing can link by mistake, that exports one symbol.
function(lerobot_plugin_library target symbol id version)
  cmake_parse_arguments(ARG "" "DIRECTORY" "SOURCES;LIBS" ${ARGN})
  lerobot_package_directory(package ${id} "${ARG_DIRECTORY}")
  add_library(${target} MODULE ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} lerobot_warnings)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE LEROBOT_PLUGIN_ID="${id}" LEROBOT_PLUGIN_VERSION="${version}")
  set_target_properties(${target} PROPERTIES PREFIX lib SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${package}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "" BUILD_WITH_INSTALL_RPATH ON)
  # The C++ library's own templates have default visibility, whatever the flags say.
  if(APPLE)
    target_link_options(${target} PRIVATE LINKER:-exported_symbol,_${symbol})
  else()
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
    file(CONFIGURE OUTPUT ${script} CONTENT "{ global: ${symbol}; local: *; };\n")
    target_link_options(${target} PRIVATE LINKER:--version-script=${script})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
  if(NOT ARG_DIRECTORY)
    install(TARGETS ${target} LIBRARY DESTINATION ${LEROBOT_PACKAGES}/${id} COMPONENT plugin-${id})
  endif()
endfunction()

# Writes a package's manifest.json into the stage after DEPENDS were built, and again when it is installed.
function(lerobot_plugin_manifest id template component)
  cmake_parse_arguments(ARG "" "DIRECTORY" "FILES;DEPENDS" ${ARGN})
  set(LEROBOT_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
  set(LEROBOT_TORCH_VERSION ${LibTorch_VERSION})
  set(LRA_VERSION_MAJOR 1)
  set(LRA_VERSION_MINOR 0)
  set(draft ${CMAKE_CURRENT_BINARY_DIR}/${id}.manifest.json)
  configure_file(${template} ${draft} @ONLY)
  lerobot_package_directory(package ${id} "${ARG_DIRECTORY}")
  add_custom_command(OUTPUT ${package}/manifest.json
    COMMAND ${CMAKE_COMMAND} -DDRAFT=${draft} -DPACKAGE=${package} "-DFILES=${ARG_FILES}" -P ${LEROBOT_PLUGIN_SCRIPT}
    DEPENDS ${draft} ${ARG_DEPENDS} ${LEROBOT_PLUGIN_SCRIPT} VERBATIM COMMENT "Writing the manifest of ${id}")
  add_custom_target(lerobot_package_${id} ALL DEPENDS ${package}/manifest.json)
  if(ARG_DIRECTORY)
    return()
  endif()
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DDRAFT=${draft}\"
    \"-DPACKAGE=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${LEROBOT_PACKAGES}/${id}\" \"-DFILES=${ARG_FILES}\"
    -P \"${LEROBOT_PLUGIN_SCRIPT}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
endfunction()
