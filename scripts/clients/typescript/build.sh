#!/bin/sh
# Installs the packages of the lock, and builds the client into dist/, its examples into build/examples/.
set -e
cd "$(dirname "$0")"
npm ci --ignore-scripts
npm run build
npm run check
