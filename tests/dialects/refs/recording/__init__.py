"""What a recording becomes, without a run."""
