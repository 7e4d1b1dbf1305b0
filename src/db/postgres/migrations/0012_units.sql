ALTER TABLE "holds" ADD COLUMN "unit_name" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "units" bigint;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "unit_price" bigint;--> statement-breakpoint
-- No version was released that uses the type without these attributes.
ALTER TYPE "batch_hold_end" ADD ATTRIBUTE "unit_name" text;--> statement-breakpoint
ALTER TYPE "batch_hold_end" ADD ATTRIBUTE "units" bigint;--> statement-breakpoint
ALTER TYPE "batch_hold_end" ADD ATTRIBUTE "unit_price" bigint;
