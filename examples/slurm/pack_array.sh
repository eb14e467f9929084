#!/bin/bash
# Packs a data set with many machines: each task of a Slurm array makes one part of the shards.
#
#   sbatch pack_array.sh SOURCE DEST SHARDS [OPTION...]
#
# SOURCE and DEST are as of `stoker pack`, on a file system that all machines see; OPTIONs are more of its options, the same for
# all tasks. When all tasks are done, `stoker pack --merge DEST` makes one set of the parts, for example:
#
#   job=$(sbatch --parsable pack_array.sh photos packed/photos.stoker 512 --shuffle)
#   sbatch --dependency="afterok:$job" --wrap "stoker pack --merge packed/photos.stoker"
#
# A task that failed or was requeued goes on where it stood; `sbatch --array=7,9 ...` runs some parts again. So the number of parts
# stands here, and is not taken from SLURM_ARRAY_TASK_COUNT, which would be 2 then.
#SBATCH --job-name=stoker-pack
#SBATCH --array=1-64
#SBATCH --requeue
#SBATCH --cpus-per-task=4
#SBATCH --output=pack-%a.log

set -euo pipefail
readonly parts=${PARTS:-64} # as many as --array has

if (($# < 3)); then
  printf 'usage: sbatch %s SOURCE DEST SHARDS [OPTION...]\n' "${0##*/}" >&2
  exit 2
fi
source=$1 dest=$2 shards=$3
shift 3
exec stoker pack "$source" "$dest" --shards "$shards" --part "${SLURM_ARRAY_TASK_ID:?is set by sbatch --array}/$parts" "$@"
