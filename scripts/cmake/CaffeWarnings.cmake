# caffe_warnings(<target>) turns on the warnings our own code is held to.
function(caffe_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wno-sign-compare
    $<$<BOOL:${CAFFE_WERROR}>:-Werror>)
endfunction()
