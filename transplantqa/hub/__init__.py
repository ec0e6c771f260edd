"""The Hugging Face Hub: releases pushed to it, pulled from it, and compared with what is there."""
