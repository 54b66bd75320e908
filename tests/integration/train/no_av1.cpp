// FFmpeg's codecs without a software decoder of AV1: to be loaded in place of libavcodec, on which it depends. A search
// by name finds this function, and all others there.

extern "C" const void* avcodec_find_decoder_by_name(const char* /*name*/) {
  return nullptr;
}
