import { type ClipboardEvent, type DragEvent, useRef, useState } from "react";
import { formatCount } from "../../format.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import styles from "./playground.module.css";

/** Longer edges are scaled down: models do so as well, and the console takes 1 MiB. */
const EDGE_MAX = 1024;
const QUALITY = 0.82;
const IMAGES_MAX = 4;
/** Characters of all images of a conversation, which are sent again with each question. */
const CHARS_MAX = 600_000;
/** A file that is larger is not opened. */
const FILE_BYTES_MAX = 20 * 1024 * 1024;

/** The images of the next question: picked, pasted or dropped. */
export function useImages() {
  const [images, setImages] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string>();
  const add = async (files: readonly File[]) => {
    setProblem(undefined);
    for (const file of files) {
      const shrunk = await shrinkImage(file).catch(() => undefined);
      if (!shrunk) return setProblem(`“${file.name}” is no image that this browser opens, or above 20 MB.`);
      setImages((all) => {
        const chars = all.reduce((sum, { length }) => sum + length, shrunk.length);
        const hasRoom = all.length < IMAGES_MAX && chars <= CHARS_MAX;
        if (!hasRoom) setProblem(`At most ${formatCount(IMAGES_MAX)} images, which are 450 KB together.`);
        return hasRoom ? [...all, shrunk] : all;
      });
    }
  };
  const remove = (position: number) => setImages((all) => all.filter((_, index) => index !== position));
  /** Brings images back that were not sent after all. */
  const restore = (sent: readonly string[]) => setImages((all) => (all.length === 0 ? sent : all));
  return { images, problem, add, remove, restore, clear: () => setImages([]) };
}

export type Images = ReturnType<typeof useImages>;

/** Returns what a text field needs to take images that are pasted or dropped. */
export function takesImages({ add }: Images) {
  const take = (event: ClipboardEvent | DragEvent, files: FileList | undefined) => {
    const images = [...(files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (images.length === 0) return;
    event.preventDefault();
    void add(images);
  };
  return {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData.files),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer.files),
  };
}

/** The button that picks images, and those of the next question. */
export function ImagePicker({ images }: { readonly images: Images }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className={styles.choices}>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Images"
        onChange={({ currentTarget }) => {
          void images.add([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <Button size="small" icon="plus" onClick={() => input.current?.click()}>
        Image
      </Button>
      {images.images.map((url, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two equal images are two.
        <span key={index} className={styles.term}>
          <img src={url} alt={`Attached, ${index + 1}`} height="40" />
          <IconButton
            icon="close"
            size="small"
            label={`Remove image ${index + 1}`}
            onClick={() => images.remove(index)}
          />
        </span>
      ))}
      {images.problem && (
        <p className={styles.failure} role="alert">
          {images.problem}
        </p>
      )}
    </div>
  );
}

/** Draws an image anew, at most 1,024 pixels long: what else its file holds, such as a place, is not sent. */
async function shrinkImage(file: File): Promise<string | undefined> {
  if (file.size > FILE_BYTES_MAX) return undefined;
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, EDGE_MAX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (!context) return undefined;
  // JPEG has no transparency: it would become black.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL("image/jpeg", QUALITY);
}
