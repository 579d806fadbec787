"""What every benchmark needs: samples, runner, result files, metrics, reports."""
