# cmake -DSOURCES=files -DDESTINATION=directory -P: hard links, or copies where the file system has none.
file(REMOVE_RECURSE "${DESTINATION}")
file(MAKE_DIRECTORY "${DESTINATION}")
foreach(source ${SOURCES})
  get_filename_component(name "${source}" NAME)
  file(REAL_PATH "${source}" file)
  file(CREATE_LINK "${file}" "${DESTINATION}/${name}" COPY_ON_ERROR)
endforeach()
