# Installs the plugin-sdk component of BUILD, then configures, builds and installs the template that came with it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --component plugin-sdk --prefix ${WORK}/sdk)
run(${CMAKE_COMMAND} -S ${WORK}/sdk/share/lerobot-accel/template -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  -DCMAKE_PREFIX_PATH=${WORK}/sdk -DLIBTORCH_ROOT=${LIBTORCH})
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/installed)
