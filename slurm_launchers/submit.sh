#!/usr/bin/env bash
# Submits a run as chained jobs: prepare, an array that generates, an array that compares, one that analyses.
#
# Usage: slurm_launchers/submit.sh SETTINGS.env [transplantqa arguments]
#        TQA_DRY_RUN=1 slurm_launchers/submit.sh ...     prints the sbatch commands instead
#
# Submitting the same again is safe: what is done is not done again. Settings are described in generic.env; a variable
# that is set in the environment wins over the file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
set -a
# shellcheck source=/dev/null
source "$1"
set +a
shift
for argument in "$@"; do
    case $argument in
        stages=* | shard.* | shard=* | -m | --multirun)
            printf '%s: this is set by the launcher, or submitted system by system. Leave it out.\n' "$argument" >&2
            exit 2
            ;;
    esac
done
if [ -z "${TQA_DRY_RUN:-}" ] && ! command -v sbatch >/dev/null; then
    echo "sbatch: not found. Run this where jobs are submitted, or with TQA_DRY_RUN=1 to look." >&2
    exit 2
fi

generate_shards=${TQA_GENERATE_SHARDS:?set it in the settings file}
compare_shards=${TQA_COMPARE_SHARDS:?set it in the settings file}
logs=${TQA_LOGS:-slurm-logs}
mkdir -p "$logs"

common=(--parsable --export=ALL --requeue --open-mode=append "--chdir=$PWD"
    "--signal=B:USR1@${TQA_WARNING_SECONDS:-300}")
[ -n "${TQA_ACCOUNT:-}" ] && common+=("--account=$TQA_ACCOUNT")
[ -n "${TQA_QOS:-}" ] && common+=("--qos=$TQA_QOS")
if [ -n "${TQA_SBATCH:-}" ]; then
    read -ra extra <<<"$TQA_SBATCH"
    common+=("${extra[@]}")
fi

# submit NAME KIND STAGES COUNT AFTER ARGUMENTS...: KIND (CPU, GENERATE, COMPARE) chooses the settings.
submit() {
    local name=$1 kind=$2 stages=$3 count=$4 after=$5
    shift 5
    local partition="TQA_${kind}_PARTITION" time="TQA_${kind}_TIME" cpus="TQA_${kind}_CPUS" memory="TQA_${kind}_MEMORY"
    local gres="TQA_${kind}_GRES"
    local options=("${common[@]}" "--job-name=tqa-$name" "--time=${!time:?set it in the settings file}")
    [ -n "${!partition:-}" ] && options+=("--partition=${!partition}")
    [ -n "${!cpus:-}" ] && options+=("--cpus-per-task=${!cpus}")
    [ -n "${!memory:-}" ] && options+=("--mem=${!memory}")
    [ -n "${!gres:-}" ] && options+=("--gres=${!gres}")
    [ -n "$after" ] && options+=("--dependency=afterok:$after")
    if [ "$count" -gt 1 ]; then
        options+=("--array=0-$((count - 1))%${TQA_THROTTLE:-$count}" "--output=$logs/$name-%A_%a.log")
    else
        options+=("--output=$logs/$name-%j.log")
    fi
    if [ -n "${TQA_DRY_RUN:-}" ]; then
        { printf '%q ' sbatch "${options[@]}" "$here/shard.sbatch" "$stages" "$count" "$@"; echo; } >&2
        echo "$name"
    else
        sbatch "${options[@]}" "$here/shard.sbatch" "$stages" "$count" "$@" | cut -d';' -f1
    fi
}

prepare=$(submit prepare CPU ingest 1 "" "$@")
generate=$(submit generate GENERATE retrieve,generate "$generate_shards" "$prepare" "$@")
compare=$(submit compare COMPARE compare "$compare_shards" "$generate" "$@")
analyse=$(submit analyse CPU analyse 1 "$compare" "$@")
printf 'prepare %s\ngenerate %s\ncompare %s\nanalyse %s\n' "$prepare" "$generate" "$compare" "$analyse"
printf 'How far it is: %s status ... shard.count=%s\n' "${TQA_COMMAND:-transplantqa}" "$generate_shards" >&2
