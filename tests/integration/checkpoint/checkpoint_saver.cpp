// checkpoint_saver OUTPUT_DIR: saves one checkpoint, of step 1, in the background, as training does.

#include "host/checkpoint/background_save.h"
#include "tests/integration/checkpoint/marked_checkpoint.h"

int main(int argc, char** argv) {
  using namespace lerobot::checkpoint;
  if (argc != 2) return 2;
  CheckpointWriter writer(argv[1], 3);
  MarkedCheckpoint checkpoint(20'000);
  BackgroundSave save(writer);
  save.begin(checkpoint.set(1, 1));
  save.finish();
}
