// Runs before the page is drawn, so that it never flashes in the other colours.
const kept = localStorage.getItem("planweave.theme");
if (kept) document.documentElement.dataset.theme = kept;
